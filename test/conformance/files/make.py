"""Writes files as pandas, openpyxl, xlsxwriter and the programs of people do: one folder, one list of what each is."""
import datetime as d
import sys

import numpy as np
import openpyxl
import pandas as pd
import xlsxwriter

folder = sys.argv[1]
N = 60
numbers = [round(0.5 + n * 0.31, 2) for n in range(N)]
days = [d.date(2026, 4, 1) + d.timedelta(days=n) for n in range(N)]
times = [d.datetime(2026, 4, 1, 6, 30, 15) + d.timedelta(days=n, minutes=7 * n) for n in range(N)]
flags = [n % 3 == 0 for n in range(N)]
names = ['B73' if n % 2 else 'Mo17 ü' for n in range(N)]
frame = pd.DataFrame({'plot': range(1, N + 1), 'phi2': numbers, 'genotype': names, 'healthy': flags, 'day': pd.to_datetime(days), 'at': times})
gaps = frame.copy()
gaps.loc[3, 'phi2'] = np.nan
gaps.loc[5, 'genotype'] = None
gaps['healthy'] = gaps['healthy'].astype('boolean')
gaps.loc[7, 'healthy'] = pd.NA
gaps.loc[9, 'at'] = pd.NaT


def path(name):
    return f'{folder}/{name}'


# pandas
frame.to_csv(path('pandas.csv'), index=False)
frame.to_csv(path('pandas-index.csv'))
gaps.to_csv(path('pandas-gaps.csv'), index=False)
gaps.to_csv(path('pandas-na.csv'), index=False, na_rep='NA')
gaps.to_csv(path('pandas-german.csv'), index=False, sep=';', decimal=',', date_format='%d.%m.%Y %H:%M')
gaps.to_csv(path('pandas.tsv'), index=False, sep='\t')
gaps.to_csv(path('pandas-bom.csv'), index=False, encoding='utf-8-sig', lineterminator='\r\n')
ns = gaps.copy()
for column in ('day', 'at'):
    ns[column] = ns[column].astype('datetime64[ns]')
ns['zoned'] = ns['at'].dt.tz_localize('Europe/Berlin')
ns.to_parquet(path('pandas-ns.parquet'), index=False)
gaps.assign(genotype=gaps['genotype'].astype('category')).to_parquet(path('pandas-category.parquet'), index=False)
finer = pd.DataFrame({'n': [1, 2], 'at': pd.to_datetime(['2026-04-01 06:30:15.123456789', '2026-04-02'], format='ISO8601')})
finer.to_parquet(path('pandas-finer.parquet'), index=False)
frame.assign(day=frame['day'].astype(str), at=frame['at'].astype(str)).to_json(path('pandas-records.json'), orient='records')
gaps.assign(day=gaps['day'].astype(str), at=gaps['at'].astype(str).replace('NaT', None)).to_json(path('pandas-lines.ndjson'), orient='records', lines=True)
gaps.to_excel(path('pandas.xlsx'), index=False)
with pd.ExcelWriter(path('pandas-second.xlsx'), engine='xlsxwriter') as writer:
    pd.DataFrame({'about': ['a field trial']}).to_excel(writer, sheet_name='About', index=False)
    gaps.to_excel(writer, sheet_name='Measurements', index=False)

# Excel by openpyxl: a title, an empty row, formulas without results, failed ones, text that looks like numbers
book = openpyxl.Workbook()
sheet = book.active
sheet.append(['plot', 'phi2', 'genotype', 'healthy', 'day', 'at', 'code', 'from'])
for n in range(N):
    sheet.append([n + 1, '#DIV/0!' if n == 3 else numbers[n], names[n], flags[n], days[n], times[n], f'{n:04d}', d.time(6, n)])
    if n == 10:
        sheet.append([])
book.save(path('openpyxl.xlsx'))
book = openpyxl.Workbook(write_only=True)
sheet = book.create_sheet('Streamed')
sheet.append(['plot', 'phi2'])
for n in range(N):
    sheet.append([n + 1, numbers[n]])
book.save(path('openpyxl-streamed.xlsx'))

# Excel by xlsxwriter: shared texts, formulas with results, dates since 1904
book = xlsxwriter.Workbook(path('xlsxwriter-1904.xlsx'), {'date_1904': True})
sheet = book.add_worksheet()
day = book.add_format({'num_format': 'dd.mm.yyyy'})
sheet.write_row(0, 0, ['plot', 'day', 'double', 'genotype'])
for n in range(N):
    sheet.write_number(n + 1, 0, n + 1)
    sheet.write_datetime(n + 1, 1, d.datetime.combine(days[n], d.time()), day)
    sheet.write_formula(n + 1, 2, f'=A{n + 2}*2', None, 2 * (n + 1))
    sheet.write_rich_string(n + 1, 3, book.add_format({'bold': True}), names[n][:2], names[n][2:])
book.close()

pd.DataFrame({'n': range(1_048_576)}).to_parquet(path('million.parquet'))
