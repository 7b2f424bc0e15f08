import { useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { DropZone } from 'react-aria-components/DropZone';
import { FileTrigger } from 'react-aria-components/FileTrigger';
import { bytesText } from '../shell/format.ts';
import { TakeButton } from '../ui/take-button.tsx';
import { words } from '../words.ts';
import { isBycatch, listDropped, placeOf } from './folders.ts';
import { ENDINGS } from './kinds.ts';

const said = words.upload.files;

interface FileChoiceProps {
  files: readonly File[];
  isDisabled: boolean;
  add: (files: readonly File[]) => void;
  remove: (file: File) => void;
}

/** Where files and folders are dropped or chosen, and the files that were. */
export function FileChoice({ files, isDisabled, add, remove }: FileChoiceProps) {
  const [bycatch, setBycatch] = useState(0);
  const take = (brought: readonly File[]) => {
    const wanted = brought.filter((file) => !isBycatch(file));
    setBycatch(brought.length - wanted.length);
    add(wanted.toSorted((one, other) => placeOf(one).localeCompare(placeOf(other), undefined, { numeric: true })));
  };
  return (
    <div className="stack">
      <DropZone className="drop" isDisabled={isDisabled} aria-label={said.drop} onDrop={({ items }) => void listDropped(items).then(take)}>
        <p>{said.drop}</p>
        <div className="inline">
          <FileTrigger allowsMultiple acceptedFileTypes={ENDINGS} onSelect={(list) => take([...(list ?? [])])}>
            <Button className={`button ${files.length === 0 ? 'primary' : ''}`} isDisabled={isDisabled}>
              {said.choose}
            </Button>
          </FileTrigger>
          <FileTrigger acceptDirectory onSelect={(list) => take([...(list ?? [])])}>
            <Button className="button" isDisabled={isDisabled}>
              {said.chooseFolder}
            </Button>
          </FileTrigger>
        </div>
        <p className="hint">{said.hint}</p>
      </DropZone>
      <p role="status" className="small quiet">
        {bycatch === 0 ? '' : said.bycatch(bycatch)}
      </p>
      {files.length === 0 ? null : (
        <ul className="rows tight chosen" aria-label={said.chosen}>
          {files.map((file) => (
            <li key={placeOf(file)}>
              <div>
                <span className="file-name">{placeOf(file)}</span> <span className="small quiet number">{bytesText(file.size)}</span>
              </div>
              <TakeButton disabled={isDisabled} aria-label={said.remove(placeOf(file))} onClick={() => remove(file)}>
                ×
              </TakeButton>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
